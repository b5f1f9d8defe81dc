/* room.h: what is left of each GPU of a cluster, and which nodes have room for a job that wants so many GPUs and so much of each. */
#ifndef PP_ROOM_H
#define PP_ROOM_H

#include "jobs.h"
#include "tournament.h"

typedef struct {
    int64_t key;  /* of a node in a class: the greatest part that it has on as many GPUs as the class wants; -1: it has not as many */
    int32_t node;
} room_entry;

typedef struct {
    int32_t wanted;      /* GPUs of a job of this class */
    tournament nodes;    /* the nodes' keys */
    room_entry *sorted;  /* [nodes] ascending, where the tightest node is asked for; else NULL */
} room_class;

typedef struct {
    const sim_cluster *cluster;
    int32_t *node_of;    /* [GPUs] */
    int64_t *left;       /* [GPUs] parts */
    int64_t *scratch;    /* [GPUs of the largest node] */
    int32_t classes;
    room_class *class;   /* [classes] ascending by wanted */
} room;

/* wanted[classes] ascending. each: the parts of an empty GPU. Free with room_close(). */
hu_status room_open(const sim_cluster *cluster, int64_t each, const int32_t *wanted, int32_t classes, bool sorted, room *ret_room, hu_error *err);
void room_close(room *r);

/* Tells that left[] of GPUs of this node has changed: O(classes (GPUs of the node + log nodes)), and where nodes are sorted a move of part of a list. */
void room_changed(room *r, int32_t node);

/* The most that a job of the class can have on any node; the first node with so much, and the one with least beyond it (of equals the first); -1: none. */
int64_t room_most(const room *r, int32_t class);
int32_t room_first(const room *r, int32_t class, int64_t parts);
int32_t room_tightest(const room *r, int32_t class, int64_t parts);

/* The GPUs of a node for a job: the first ones with room, or the tightest ones. gpu[wanted] ascending. */
void room_choose(room *r, int32_t node, int32_t wanted, int64_t parts, bool tightest, int32_t *gpu);

#endif
