# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a built file lacks of the protection that Debian's packages have, read from the file."""

import platform
import re
import subprocess

# What the compiler replaces where it optimises: snprintf() by __snprintf_chk().
CHECKED = {"fprintf", "printf", "snprintf", "sprintf", "strcat", "strcpy", "vfprintf", "vsnprintf", "vsprintf"}


def read(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def missing(path, function, is_optimised=True):
    """Names of what is missing. function: one of the file, which indirect calls may reach."""
    segments = read("readelf", "-lW", path)
    dynamic = read("readelf", "-dW", path)
    symbols = set(re.findall(r" UND (\w+)", read("readelf", "-W", "--dyn-syms", path)))
    stack = re.search(r"GNU_STACK( +0x[0-9a-f]+){5} (RWE|RW )", segments)
    holds = {
        "a stack that is not executed": stack is not None and stack[2] == "RW ",
        "a protected stack": "__stack_chk_fail" in symbols,
        "tables of addresses that are read-only": "GNU_RELRO" in segments,
        "addresses that are all found when it is loaded": bool(re.search("BIND_NOW|Flags:.* NOW", dynamic)),
        "code that is not changed when it is loaded": "TEXTREL" not in dynamic,
    }
    if is_optimised and ".nv_fatbin" in read("readelf", "-SW", path):  # the CUDA runtime in it calls unchecked ones
        holds["checked functions of the C library"] = bool(symbols & {f"__{name}_chk" for name in CHECKED})
    elif is_optimised:
        holds["checked functions of the C library"] = not symbols & CHECKED
    if platform.machine() in ("x86_64", "aarch64"):
        code = read("objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", path)
        holds["marked targets of indirect calls"] = bool(re.search(r"\b(endbr64|bti|paciasp)\b", code))
    return [name for name, is_there in holds.items() if not is_there]
