// Version of the interface that these headers have.
#pragma once
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000)
#define HIP_VERSION_PATCH 0
