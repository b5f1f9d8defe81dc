/* peers_petsc.c: PETSc's KSPCG with PCICC(0) on the 7-point Laplacian of an N^3 grid, in a process of its own because PETSc brings MPI.
 * Natural order, no shift, right-hand side of ones, x = 0, ended by the true residual's norm, as the other sides of the benchmark.
 *
 *   peers_petsc N TOLERANCE REPETITIONS
 *
 * Prints one line: iterations, then the seconds of each solve.
 */
#include <petscksp.h>
#include <stdlib.h>

static PetscErrorCode laplacian(PetscInt n, Mat *ret_a)
{
    PetscFunctionBeginUser;
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n * n * n, n * n * n, 7, NULL, ret_a));
    for (PetscInt row = 0; row < n * n * n; row++) {
        const PetscInt place[3] = {row % n, row / n % n, row / n / n}, step[3] = {1, n, n * n};
        PetscInt cols[7], count = 0;
        PetscScalar values[7];
        for (int d = 2; d >= 0; d--)
            if (place[d] > 0) cols[count++] = row - step[d];
        cols[count++] = row;
        for (int d = 0; d < 3; d++)
            if (place[d] < n - 1) cols[count++] = row + step[d];
        for (PetscInt k = 0; k < count; k++) values[k] = cols[k] == row ? 6.0 : -1.0;
        PetscCall(MatSetValues(*ret_a, 1, &row, count, cols, values, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(*ret_a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*ret_a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatSetOption(*ret_a, MAT_SYMMETRIC, PETSC_TRUE));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(Mat a, double tolerance, int repetitions)
{
    KSP ksp;
    PC pc;
    Vec b, x;
    PetscInt iterations;
    PetscFunctionBeginUser;
    PetscCall(MatCreateVecs(a, &x, &b));
    PetscCall(VecSet(b, 1.0));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, a, a));
    PetscCall(KSPSetType(ksp, KSPCG));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetTolerances(ksp, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, 10000));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCICC));
    PetscCall(PCFactorSetLevels(pc, 0));
    PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGNATURAL));
    PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONE));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSetUp(ksp));
    for (int r = 0; r < repetitions; r++) {
        PetscLogDouble start, end;
        PetscCall(VecSet(x, 0.0));
        PetscCall(PetscTime(&start));
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(PetscTime(&end));
        PetscCall(KSPGetIterationNumber(ksp, &iterations));
        if (r == 0) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d", (int)iterations));
        PetscCall(PetscPrintf(PETSC_COMM_SELF, " %.6f", end - start));
    }
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    Mat a;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    if (argc != 4) return 2;
    PetscCall(laplacian((PetscInt)atoi(argv[1]), &a));
    PetscCall(solve(a, atof(argv[2]), atoi(argv[3])));
    PetscCall(MatDestroy(&a));
    PetscCall(PetscFinalize());
    return 0;
}
