// Programs compiled at run time may include this by name; everything in it is there already.
#pragma once
