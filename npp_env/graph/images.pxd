cdef unsigned int root_of(unsigned int[::1] parents, unsigned int label) noexcept
cdef void look_from(int[:, ::1] distances, unsigned short[:, ::1] labels, Py_ssize_t y, Py_ssize_t x, Py_ssize_t y2, Py_ssize_t x2, int cost) noexcept
