#!/bin/bash
#SBATCH -N 2 --gpus=8
export A=1
srun --export=ALL,B=2 \
  python x.py
