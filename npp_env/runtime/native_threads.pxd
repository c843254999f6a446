# What the thread pool needs of the system: POSIX threads, and the compiler's atomic operations on one number.
#
# There are none on Windows, where `start_thread` always fails: the caller then does all the work alone.

ctypedef void* (*ThreadWork)(void* argument) noexcept nogil

cdef extern from *:
    """
    #include <stddef.h>
    #ifdef _WIN32
    typedef int npp_lock;
    typedef int npp_condition;
    typedef int npp_thread;
    #define NPP_HAS_THREADS 0
    static inline void npp_lock_init(npp_lock* lock) { (void)lock; }
    static inline void npp_acquire(npp_lock* lock) { (void)lock; }
    static inline void npp_release(npp_lock* lock) { (void)lock; }
    static inline void npp_condition_init(npp_condition* condition) { (void)condition; }
    static inline void npp_wait(npp_condition* condition, npp_lock* lock) { (void)condition; (void)lock; }
    static inline void npp_signal(npp_condition* condition) { (void)condition; }
    static inline void npp_broadcast(npp_condition* condition) { (void)condition; }
    static inline int npp_start_thread(npp_thread* thread, void* (*work)(void*), void* argument) {
        (void)thread; (void)work; (void)argument;
        return -1;
    }
    static inline void npp_join_thread(npp_thread* thread) { (void)thread; }
    static inline long long npp_now_ns(void) { return 0; }
    static inline void npp_relax(void) {}
    static inline ptrdiff_t npp_fetch_add(ptrdiff_t* number, ptrdiff_t more) { *number += more; return *number - more; }
    static inline ptrdiff_t npp_load(ptrdiff_t* number) { return *number; }
    static inline void npp_store(ptrdiff_t* number, ptrdiff_t value) { *number = value; }
    #else
    #include <pthread.h>
    #include <signal.h>
    #include <time.h>
    typedef pthread_mutex_t npp_lock;
    typedef pthread_cond_t npp_condition;
    typedef pthread_t npp_thread;
    #define NPP_HAS_THREADS 1
    /* Frames of the kernel take some 20 KB; of a megabyte only what is touched takes memory. */
    #define NPP_STACK_BYTES (1 << 20)
    static inline void npp_lock_init(npp_lock* lock) { pthread_mutex_init(lock, NULL); }
    static inline void npp_acquire(npp_lock* lock) { pthread_mutex_lock(lock); }
    static inline void npp_release(npp_lock* lock) { pthread_mutex_unlock(lock); }
    static inline void npp_condition_init(npp_condition* condition) { pthread_cond_init(condition, NULL); }
    static inline void npp_wait(npp_condition* condition, npp_lock* lock) { pthread_cond_wait(condition, lock); }
    static inline void npp_signal(npp_condition* condition) { pthread_cond_signal(condition); }
    static inline void npp_broadcast(npp_condition* condition) { pthread_cond_broadcast(condition); }
    /* Signals are for the threads of Python; those of a crash stay, so that faulthandler can speak. */
    static inline int npp_start_thread(npp_thread* thread, void* (*work)(void*), void* argument) {
        pthread_attr_t attributes;
        sigset_t hidden, before;
        int error;
        sigfillset(&hidden);
        sigdelset(&hidden, SIGSEGV); sigdelset(&hidden, SIGBUS); sigdelset(&hidden, SIGFPE);
        sigdelset(&hidden, SIGILL); sigdelset(&hidden, SIGABRT); sigdelset(&hidden, SIGTRAP);
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, NPP_STACK_BYTES);
        pthread_sigmask(SIG_SETMASK, &hidden, &before);
        error = pthread_create(thread, &attributes, work, argument);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
        return error;
    }
    static inline void npp_join_thread(npp_thread* thread) { pthread_join(*thread, NULL); }
    static inline long long npp_now_ns(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (long long)now.tv_sec * 1000000000LL + now.tv_nsec;
    }
    static inline void npp_relax(void) {
    #if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
    #elif defined(__aarch64__)
        __asm__ __volatile__("yield");
    #endif
    }
    static inline ptrdiff_t npp_fetch_add(ptrdiff_t* number, ptrdiff_t more) {
        return __atomic_fetch_add(number, more, __ATOMIC_ACQ_REL);
    }
    static inline ptrdiff_t npp_load(ptrdiff_t* number) { return __atomic_load_n(number, __ATOMIC_ACQUIRE); }
    static inline void npp_store(ptrdiff_t* number, ptrdiff_t value) {
        __atomic_store_n(number, value, __ATOMIC_RELEASE);
    }
    #endif
    """
    ctypedef struct Lock "npp_lock":
        pass
    ctypedef struct Condition "npp_condition":
        pass
    ctypedef struct Thread "npp_thread":
        pass
    const bint HAS_THREADS "NPP_HAS_THREADS"
    void init_lock "npp_lock_init"(Lock* lock) noexcept nogil
    void acquire "npp_acquire"(Lock* lock) noexcept nogil
    void release "npp_release"(Lock* lock) noexcept nogil
    void init_condition "npp_condition_init"(Condition* condition) noexcept nogil
    void wait "npp_wait"(Condition* condition, Lock* lock) noexcept nogil
    void signal "npp_signal"(Condition* condition) noexcept nogil
    void broadcast "npp_broadcast"(Condition* condition) noexcept nogil
    int start_thread "npp_start_thread"(Thread* thread, ThreadWork work, void* argument) noexcept nogil
    void join_thread "npp_join_thread"(Thread* thread) noexcept nogil
    long long now_ns "npp_now_ns"() noexcept nogil
    void relax "npp_relax"() noexcept nogil
    Py_ssize_t fetch_add "npp_fetch_add"(Py_ssize_t* number, Py_ssize_t more) noexcept nogil
    Py_ssize_t load "npp_load"(Py_ssize_t* number) noexcept nogil
    void store "npp_store"(Py_ssize_t* number, Py_ssize_t value) noexcept nogil
