! ring_f08.f90: the ring of ring.c with mpi_f08, 10 times round, then a Barrier and a split into even and odd ranks.
program ring
  use mpi_f08
  implicit none
  integer :: rank, num, token, got, total, i
  type(MPI_Request) :: request(2)
  type(MPI_Comm) :: half
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, num)
  token = rank
  do i = 1, 10
    call MPI_Irecv(got, 1, MPI_INTEGER, mod(rank + num - 1, num), 5, MPI_COMM_WORLD, request(1))
    call MPI_Isend(token, 1, MPI_INTEGER, mod(rank + 1, num), 5, MPI_COMM_WORLD, request(2))
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE)
    token = got
  end do
  call MPI_Allreduce(token, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
  call MPI_Comm_free(half)
  if (rank == 0) print '(i0)', total
  call MPI_Finalize()
end program ring
