// faults.h: the launches of faults.cu.
#ifndef HU_SIMT_FAULTS_H
#define HU_SIMT_FAULTS_H

enum class handover { acquire, fences, no_order, by_index, lost };

void launch_block_sum(bool barrier, const int *x, int *sum, int blocks);
void launch_divergent_barrier(int *x);
void launch_barrier_after_return(int *x, int n);
void launch_read_unwritten_shared(int *x);
void launch_beyond_shared(int *x);
void launch_scale(bool beyond, double *x, int n);
void launch_load_vector(const float *x, float *y, int skip);
void launch_count(bool atomic, const int *key, int *histogram, int n);
void launch_warp_sum(bool whole, const float *x, float *sum, int warps);
void launch_mixed_warp_operations(int *x);
void launch_groups_then_warp(const int *x, int *sum);
void launch_warp_exchange(bool sync, int *x);
void launch_warp_words(const int *x, unsigned *out);
void launch_chain(handover how, const int *value, int *total, int *flag, int *ticket, int blocks);

#endif
