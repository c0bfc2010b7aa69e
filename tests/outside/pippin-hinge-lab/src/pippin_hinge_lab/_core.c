/* Hinges, relays and energies: plain C over buffers of floats, with nothing but Python's own interface. */

#include <Python.h>
#include <math.h>

static int fits(const Py_buffer *buffer, Py_ssize_t count)
{
    if (buffer->len == count * (Py_ssize_t)sizeof(float))
        return 1;
    PyErr_SetString(PyExc_ValueError, "a buffer does not have the length that the others ask for");
    return 0;
}

/* step(q, qd, effort, constants, next_q, next_qd, dt): symplectic Euler for hinges that do not touch each other.
 * Each has four constants: 1/J [1/(kg·m²)], its torques of gravity at q = 0 and q = π/2 [N·m], damping [N·m·s]. */
static PyObject *step(PyObject *self, PyObject *arguments)
{
    Py_buffer q, qd, effort, constants, next_q, next_qd;
    float dt;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*w*w*f", &q, &qd, &effort, &constants, &next_q, &next_qd, &dt))
        return NULL;
    Py_ssize_t count = q.len / (Py_ssize_t)sizeof(float);
    int is_sound = fits(&qd, count) && fits(&effort, count) && fits(&constants, 4 * count) && fits(&next_q, count)
                   && fits(&next_qd, count);
    for (Py_ssize_t i = 0; is_sound && i < count; ++i) {
        const float *of = (const float *)constants.buf + 4 * i;
        float angle = ((const float *)q.buf)[i], speed = ((const float *)qd.buf)[i];
        float torque = ((const float *)effort.buf)[i] + of[1] * cosf(angle) + of[2] * sinf(angle) - of[3] * speed;
        speed += dt * of[0] * torque;
        ((float *)next_qd.buf)[i] = speed;
        ((float *)next_q.buf)[i] = angle + dt * speed;
    }
    Py_buffer *all[] = {&q, &qd, &effort, &constants, &next_q, &next_qd};
    for (int i = 0; i < 6; ++i)
        PyBuffer_Release(all[i]);
    if (!is_sound)
        return NULL;
    Py_RETURN_NONE;
}

/* switch_on(error, level, width, effort): ±level where |error| is beyond width, else zero. */
static PyObject *switch_on(PyObject *self, PyObject *arguments)
{
    Py_buffer error, level, width, effort;
    if (!PyArg_ParseTuple(arguments, "y*y*y*w*", &error, &level, &width, &effort))
        return NULL;
    Py_ssize_t count = error.len / (Py_ssize_t)sizeof(float);
    int is_sound = fits(&level, count) && fits(&width, count) && fits(&effort, count);
    for (Py_ssize_t i = 0; is_sound && i < count; ++i) {
        float off = ((const float *)error.buf)[i], most = ((const float *)level.buf)[i];
        ((float *)effort.buf)[i] = fabsf(off) <= ((const float *)width.buf)[i] ? 0.0f : copysignf(most, off);
    }
    Py_buffer *all[] = {&error, &level, &width, &effort};
    for (int i = 0; i < 4; ++i)
        PyBuffer_Release(all[i]);
    if (!is_sound)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"step", step, METH_VARARGS, "Advance hinges by a time step."},
    {"switch_on", switch_on, METH_VARARGS, "Return the efforts of relays."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_core", NULL, -1, methods};

PyMODINIT_FUNC PyInit__core(void) { return PyModule_Create(&module); }
