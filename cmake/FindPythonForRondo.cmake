# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0

# Finds a Python that has both its own headers and NumPy. The first `python3` on the path need not be one: a version
# manager's often lacks NumPy, where the system's has it. Sets RONDO_PYTHON (a cache variable, which users may set),
# RONDO_PYTHON_INCLUDE and RONDO_PYTHON_SUFFIX; where none will do, RONDO_PYTHON_WHY says what each lacks.

set(RONDO_PYTHON "" CACHE FILEPATH "The Python to build the module for; empty: the first that has headers and NumPy")
set(RONDO_PYTHON_FOUND FALSE)
set(RONDO_PYTHON_WHY "")

set(candidates ${RONDO_PYTHON})
if(NOT RONDO_PYTHON)
  string(REPLACE ":" ";" folders "$ENV{PATH}")
  foreach(folder IN LISTS folders ITEMS /usr/local/bin /usr/bin)
    if(EXISTS ${folder}/python3)
      list(APPEND candidates ${folder}/python3)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES candidates)
endif()
foreach(python IN LISTS candidates)
  execute_process(
    COMMAND ${python} -c "import sys, sysconfig, os
include = sysconfig.get_path('include')
lacks = [] if os.path.exists(os.path.join(include, 'Python.h')) else ['Python.h (Debian: python3-dev)']
try:
    import numpy
except ImportError:
    lacks.append('numpy (Debian: python3-numpy)')
print(';'.join([include, sysconfig.get_config_var('EXT_SUFFIX')]) if not lacks else 'lacks ' + ' and '.join(lacks))"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result ERROR_QUIET)
  if(NOT result EQUAL 0)
    string(APPEND RONDO_PYTHON_WHY " ${python} does not run;")
  elseif(found MATCHES "^lacks")
    string(APPEND RONDO_PYTHON_WHY " ${python} ${found};")
  else()
    set(RONDO_PYTHON_FOUND TRUE)
    set(RONDO_PYTHON_EXECUTABLE ${python})
    list(GET found 0 RONDO_PYTHON_INCLUDE)
    list(GET found 1 RONDO_PYTHON_SUFFIX)
    break()
  endif()
endforeach()
if(NOT candidates)
  set(RONDO_PYTHON_WHY " there is no python3;")
endif()
