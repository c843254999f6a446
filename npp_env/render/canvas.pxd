cdef struct Canvas:
    unsigned char* pixels
    int width
    int height
    double scale
    double left
    double top

cdef void fill_disc(Canvas* c, double x, double y, double radius, int grey) noexcept nogil
cdef void fill_box(Canvas* c, double x, double y, double half_width, double half_height, int grey) noexcept nogil
cdef void draw_line(Canvas* c, double x1, double y1, double x2, double y2, double half_width, int grey) noexcept nogil
cdef void copy_window(unsigned char* source, int source_width, int source_height, Canvas* c, int grey) noexcept nogil
