# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes what lets each call of the CUDA runtime fail: cuda_wraps.py LIBRARY OPTIONS SOURCE

OPTIONS is a file of linker options: --wrap for each function of the runtime that the library calls. SOURCE has the
functions that are called instead. They are assembler, because it passes on any arguments: no list of declarations has
to be kept.
"""

import subprocess
import sys

# What the compiler makes of <<<>>> since CUDA 13. Its other functions with underscores
# prepare a launch on the host, or run once in a process.
LAUNCH = "__cudaLaunchKernel"
# Those with arguments on the stack, which are passed on by a jump: what they returned is not seen.
BY_JUMP = {LAUNCH, "cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cudaMemcpy2DAsync"}
# Those that are no calls of the library.
LEFT_OUT = {"cudaGetErrorName", "cudaGetErrorString"}

TRAMPOLINE = """
  .globl __wrap_{name}
  .type __wrap_{name}, @function
__wrap_{name}:
  endbr64
  pushq %rdi; pushq %rsi; pushq %rdx; pushq %rcx; pushq %r8; pushq %r9; pushq %rax
  leaq .Lname_{name}(%rip), %rdi
  call faults_before_call@PLT
  movl %eax, %r11d
  popq %rax; popq %r9; popq %r8; popq %rcx; popq %rdx; popq %rsi; popq %rdi
  testl %r11d, %r11d
  jne 1f
{call}
1:
  movl %r11d, %eax
  ret
  .pushsection .rodata
.Lname_{name}:
  .asciz "{name}"
  .popsection
"""
JUMP = "  jmp __real_{name}"
# The stack is aligned to 16 bytes at a call.
CALL = """  subq $8, %rsp
  call __real_{name}
  movl %eax, %esi
  leaq .Lname_{name}(%rip), %rdi
  call faults_after_call@PLT
  addq $8, %rsp
  ret"""


def runtime_functions(library):
    listed = subprocess.run(["nm", "-u", library], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1] for line in listed.splitlines() if line.strip().startswith("U ")}
    return sorted(name for name in names - LEFT_OUT if name.startswith("cuda") or name == LAUNCH)


def main():
    library, options, source = sys.argv[1:]
    names = runtime_functions(library)
    with open(options, "w", encoding="utf-8") as file:
        file.writelines(f"--wrap={name}\n" for name in names)
    with open(source, "w", encoding="utf-8") as file:
        file.write('asm(R"asm(\n  .text')
        for name in names:
            call = (JUMP if name in BY_JUMP else CALL).format(name=name)
            file.write(TRAMPOLINE.format(name=name, call=call))
        file.write(')asm");\n')


main()
