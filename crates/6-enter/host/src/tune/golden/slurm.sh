#!/bin/sh
#SBATCH --job-name=rockhound-tune-gemm-mi300x
#SBATCH --ntasks=12
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=6
#SBATCH --gres=gpu:6
#SBATCH --time=8:00:00
#SBATCH --partition=mi300x
#SBATCH --signal=TERM@60
#SBATCH --open-mode=append
#SBATCH --output=rockhound-tune-gemm-mi300x-%j.log
#SBATCH --requeue
# A worker that is told to end, or whose node is taken, gives its task back; the journal is in the database, so
# this script can be submitted again, several times at once, and cancelled at any moment.
# The address may be given in the environment instead of here, where a password must not be seen.
: "${ROCKHOUND_STORE:=postgres://tuner@db.site/tuning}"
export ROCKHOUND_STORE
# One worker ends without the others; each takes the GPU of its number on the node (SLURM_LOCALID).
exec srun --kill-on-bad-exit=0 --wait=0 --label rockhound tune --worker --study 'gemm MI300X'
