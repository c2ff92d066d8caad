// Programs compiled at run time may include this by name; everything in it is there already.
#pragma once
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime_api.h>
#endif
