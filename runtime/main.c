/* main.c - for programs whose main is in OCaml. */
#include <stdlib.h>

void caml_main(char **argv);

int main(int argc, char **argv)
{
    (void)argc;
    caml_main(argv);
    exit(0);
}
