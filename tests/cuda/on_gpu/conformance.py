#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""conformance.py build FOLDER [file]...
conformance.py run FOLDER

Builds the conformance suite for a GPU in the folder, and runs it: the cases of tests/conformance, or of the files named,
for the platform Cuda and NVIDIA's driver. Building needs clang 16 or later, nm, c++filt and fmt; no CUDA toolkit.
Running takes minutes, as each session compiles PTX. Returns 0 if every case passes.

The kernels of those tests are host functions. Each source is therefore compiled three times: for the host, to learn
which kernels its graphs have; for the device, to PTX in which the first thread of each block calls a kernel's run(); and
for the host again, together with that PTX. A kernel that throws traps there. A kernel that a GPU cannot run, because
it uses variables of the host, gets no PTX, and opening its graph fails."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
ROOT = TESTS.parent
# Orchestrations run on NPUs only, and the kernels of digits need expf, which clang lacks without the toolkit.
LEFT_OUT = {"runtimes_test", "random_orchestrations_test", "digits_test"}
# Kernels that use variables of the host, or that read an args format of their own.
FOR_THE_HOST = re.compile(r"(Gate|Advance|TellLaidOut<.*>|TellNarrow)$")
# Cases with such kernels, with kernels that are lambdas, or in which a kernel fails and the process loses the device.
ONLY_FOR_THE_HOST = ["*raw kernel*", "Shapes that take turns*", "Shapes are said where*", "Values reach kernels*",
                     "Values are operands*", "Values and formats*", "Values that have not changed*",
                     "rounds over memory that lies between*", "a full queue makes submit_round wait*",
                     "Without a checkpoint*", "an observer hears of each round*"]


def clang():
    for name in ["clang++-19", "clang++-20", "clang++-18", "clang++-17", "clang++-16", "clang++"]:
        if shutil.which(name):
            return name
    sys.exit("conformance.py: clang 16 or later is not installed")


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(part) for part in command)}\n{done.stderr[:4000]}")
    return done.stdout


CLANG = clang()
FLAGS = ["-std=c++20", "-w", "-DFMT_SHARED", "-DRONDO_ON_GPU", '-DRONDO_TEST_DATA_DIR=""', f"-I{ROOT / 'include'}",
         f"-I{TESTS}", f"-I{TESTS / 'conformance'}", f"-I{ROOT}"]
ONLY_CUDA = ["-include", TESTS / "cuda" / "only_cuda.hpp"]


def includes_of_system():
    """The folders of system headers without clang's wrappers for CUDA, which need the toolkit."""
    words = subprocess.run([CLANG, "-E", "-v", "-x", "c++", "/dev/null"], capture_output=True, text=True).stderr
    block = words.split("#include <...> search starts here:")[1].split("End of search list")[0]
    return [word for line in block.split() for word in ("-isystem", line)]


def kernels_of(source, folder):
    """The types of the kernels in the graphs of a source."""
    listed = folder / f"{source.stem}.list.o"
    run(CLANG, "-O0", *FLAGS, *ONLY_CUDA, "-c", source, "-o", listed)
    symbols = [line.split()[-1] for line in run("nm", listed).splitlines() if "rondo6detail12kernel_entry" in line]
    plain = "\n".join(symbol.replace("ITkNS_6KernelE", "I") for symbol in symbols)  # c++filt knows no constraints
    names = subprocess.run(["c++filt"], input=plain, capture_output=True, text=True).stdout
    found = re.findall(r"kernel_entry<(.*)>\(long\*", names)
    return sorted({name.replace("(anonymous namespace)::", "").strip() for name in found})


def device_source(source, kernels):
    entries = "".join(f"""
extern "C" RONDO_GLOBAL void rondo_test_kernel_{i}(const rondo::ArgWord* args) {{
  if (rondo::cuda::thread() == 0) rondo::cuda::detail::run<{k}, &{k}::run>(args);
}}""" for i, k in enumerate(kernels))
    return f"""#pragma clang force_cuda_host_device begin
#define throw __builtin_trap(), (void)sizeof  // a device traps
#include "{source}"
#undef throw
#pragma clang force_cuda_host_device end
{entries}
"""


def ptx_of(source, kernels, folder, headers):
    """The PTX of each kernel, with the entry called rondo_test_kernel."""
    file, out = folder / f"{source.stem}.cu", folder / f"{source.stem}.ptx"
    file.write_text(device_source(source, kernels))
    run(CLANG, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "--cuda-feature=+ptx63",
        "-Wno-unknown-cuda-version", "-nocudainc", "-nocudalib", "-nobuiltininc", *includes_of_system(), "-O2",
        "-ffp-contract=off", "-fcx-limited-range", "-S", *FLAGS, "-include", headers, *ONLY_CUDA, file, "-o", out)
    text = re.sub(r"//.*", "", out.read_text())
    starts = [m.start() for m in re.finditer(r"^\s*\.visible \.entry", text, re.MULTILINE)]
    before = re.sub(r"\.(version|target|address_size)[^\n]*", "", text[:starts[0]]).strip() if starts else ""
    if before:
        sys.exit(f"{out}: only entries are expected, there is:\n{before[:500]}")
    bodies = [text[a:b] for a, b in zip(starts, starts[1:] + [len(text)])]
    found = {}
    for body in bodies:
        number = int(re.search(r"rondo_test_kernel_(\d+)\(", body).group(1))
        found[kernels[number]] = body.replace(f"rondo_test_kernel_{number}", "rondo_test_kernel")
    return found


def build(source, folder, headers):
    kernels = [k for k in kernels_of(source, folder) if not FOR_THE_HOST.search(k)]
    ptx = ptx_of(source, kernels, folder, headers) if kernels else {}
    rows = "".join(f'    {{&rondo::detail::kernel_entry<{k}>, R"ptx({text})ptx"}},\n' for k, text in ptx.items())
    joined = folder / f"{source.stem}.cpp"
    joined.write_text(f"""#include "{source}"
namespace {{
const cuda_on_gpu::Kernel on_gpu[] = {{
{rows}    {{nullptr, ""}}}};
const cuda_on_gpu::AddKernels add_on_gpu{{on_gpu}};
}}  // namespace
""")
    made = folder / f"{source.stem}.o"
    run(CLANG, "-O1", *FLAGS, *ONLY_CUDA, "-c", joined, "-o", made)
    print(f"{source.stem}: {len(ptx)} kernels", flush=True)
    return made


def run_file(program, file, left_out):
    """Runs the cases of one file in a process of its own, since a failed device is lost for the process."""
    done = subprocess.run([program, f"--source-file=*/{file}.cpp", f"--test-case-exclude={left_out}", "--no-intro=true",
                           "--subcase-exclude=a failed round ends all of them"], capture_output=True, text=True)
    summary = [line for line in done.stdout.splitlines() if line.startswith("[doctest] test cases:")]
    print(f"{file}: {summary[0] if summary else 'ended early'}", flush=True)
    if done.returncode != 0:
        print(done.stdout[-4000:], done.stderr[-4000:])
    return done.returncode == 0


def run_all(folder):
    left_out = [line for line in (TESTS / "cuda" / "left_out.txt").read_text().splitlines()
                if line and not line.startswith("#")]
    patterns = ",".join(left_out + ONLY_FOR_THE_HOST)
    files = sorted(file.stem for file in folder.glob("*_test.o"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda file: run_file(folder / "conformance", file, patterns), files))
    return all(results) and len(results) > 0


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("build", "run"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2]).resolve()
    if sys.argv[1] == "run":
        sys.exit(0 if run_all(folder) else 1)
    folder.mkdir(parents=True, exist_ok=True)
    sources = [s for s in sorted((TESTS / "conformance").glob("*_test.cpp")) if s.stem not in LEFT_OUT]
    if len(sys.argv) > 3:
        sources = [s for s in sources if s.stem in sys.argv[3:]]
    # Code of the tests is for host and device, and what they include is for the host, except functions that are
    # constexpr. So all headers come first.
    headers = folder / "headers.hpp"
    names = {line for s in (TESTS / "conformance").glob("*.?pp") for line in s.read_text().splitlines()
             if re.match(r"#include <(?!random\.hpp)", line)}
    headers.write_text("#include <rondo/rondo.hpp>\n#include <rondo/platform/cuda/device/kernel.hpp>\n" +
                       "\n".join(sorted(names)) + "\n")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda source: build(source, folder, headers), sources))
    stand_in = [folder / f"{s.stem}.stand_in.o" for s in sorted((TESTS / "stand_in").glob("*.cpp"))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda o: run(CLANG, "-O1", *FLAGS, f"-I{TESTS / 'stand_in' / 'ascend_c'}", "-c",
                                    TESTS / "stand_in" / f"{o.stem.split('.')[0]}.cpp", "-o", o), stand_in))
    main_object = folder / "main.o"
    run(CLANG, "-O1", *FLAGS, "-c", TESTS / "unit" / "main.cpp", "-o", main_object)
    run(CLANG, *objects, *stand_in, main_object, "-Wl,--export-dynamic", "-lfmt", "-ldl", "-pthread", "-o",
        folder / "conformance")


main()
