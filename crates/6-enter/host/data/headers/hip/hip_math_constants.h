// Constants under the interface's names.
#pragma once
#define HIP_INF_F __builtin_inff()
#define HIP_NAN_F __builtin_nanf("")
#define HIP_MIN_DENORM_F 1.4012984643248171e-45f
#define HIP_MAX_NORMAL_F 3.4028234663852886e+38f
#define HIP_SQRT_HALF_F 0.707106781f
#define HIP_SQRT_TWO_F 1.414213562f
#define HIP_PI_F 3.141592654f
#define HIP_PIO2_F 1.570796327f
#define HIP_PIO4_F 0.785398163f
#define HIP_LN2_F 0.693147181f
#define HIP_INF __builtin_inf()
#define HIP_NAN __builtin_nan("")
#define HIP_SQRT_HALF 7.0710678118654757e-1
#define HIP_SQRT_TWO 1.4142135623730951e+0
#define HIP_PI 3.1415926535897931e+0
#define HIP_PIO2 1.5707963267948966e+0
#define HIP_PIO4 7.8539816339744828e-1
#define HIP_LN2 6.9314718055994529e-1
