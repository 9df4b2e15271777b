/* custom.c - custom blocks by identifier. */
#include "runtime/custom.h"

#include <pthread.h>
#include <stdlib.h>

#include "runtime/bigarray.h"

struct entry {
    struct entry *next;
    const struct custom_operations *ops;
};
static struct entry *registered;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void caml_register_custom_operations(const struct custom_operations *ops)
{
    struct entry *e = malloc(sizeof *e);
    if (!e)
        return;
    e->ops = ops;
    pthread_mutex_lock(&lock);
    e->next = registered;
    registered = e;
    pthread_mutex_unlock(&lock);
}

const struct custom_operations *fk_find_custom(const char *identifier)
{
    static const struct custom_operations *const own[] = {
        &caml_int32_ops, &caml_int64_ops, &caml_nativeint_ops, &fk_ba_ops};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i]->identifier, identifier) == 0)
            return own[i];
    pthread_mutex_lock(&lock);
    struct entry *e = registered;
    while (e && strcmp(e->ops->identifier, identifier) != 0)
        e = e->next;
    pthread_mutex_unlock(&lock);
    return e ? e->ops : NULL;
}
