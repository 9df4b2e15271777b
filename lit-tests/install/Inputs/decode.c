/* With the installed header and library only: the descriptors of a compiler. */
#include <framekit/frametable.h>
#include <stdio.h>

static unsigned long count(const fk_table *table)
{
    fk_cursor c;
    fk_descr d;
    fk_error err;
    unsigned long n = 0;
    fk_cursor_start(table, &c);
    while (fk_cursor_next(&c, &d, &err) == FK_OK)
        n++;
    return n;
}

int main(int argc, char **argv)
{
    fk_image *image;
    fk_error err;
    unsigned long n = 0;
    if (argc != 2 || fk_image_open(argv[1], NULL, &image, &err) != FK_OK)
        return 1;
    const fk_table *table;
    for (size_t i = 0; (table = fk_image_table(image, i)); i++)
        n += count(table);
    printf("%zu tables, %lu descriptors, framekit %s\n", fk_image_num_tables(image), n,
           fk_version());
    fk_image_close(image);
    return 0;
}
