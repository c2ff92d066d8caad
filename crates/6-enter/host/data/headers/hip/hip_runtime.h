// Programs compiled at run time may include this by name; everything in it is there already.
#pragma once
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime_api.h>
#endif
