# gas 2.44 fills in the low part of an address that a relocation replaces; older ones leave 0.
# 52 is what it writes for the handler of tryloop.
/lla\tt1, \.L/ {
    n++
    print ".Lhigh" n ":\tauipc\tt1, %pcrel_hi(" $3 ")"
    print "\t.reloc\t., R_RISCV_PCREL_LO12_I, .Lhigh" n
    print "\taddi\tt1, t1, 52"
    next
}
{ print }
