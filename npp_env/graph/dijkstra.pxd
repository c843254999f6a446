cdef void push(double[::1] keys, unsigned short[::1] nodes, Py_ssize_t size, double key, int node) noexcept
cdef void pop(double[::1] keys, unsigned short[::1] nodes, Py_ssize_t size) noexcept
