import { reader } from './judges.ts'
import type { ProgramTable } from './program-table.ts'

/** For programs whose options only change what is printed: an unknown word is harmless even if it turns out to be an option. */
const anyWord = true

const checksumOptions =
  '-b -c -t -z -w --binary --check --tag --text --zero --quiet --status --strict --warn --ignore-missing'

/** Programs that print the bytes of files in another form, compute checksums, or list the contents of a compiled program. */
export const byteReaders: ProgramTable = {
  od: reader(
    'getopt',
    'od(1)',
    '-A: -a -b -c -d -f -i -j: -l -N: -o -s -t: -v -w? -x --address-radix: --format: --skip-bytes: --read-bytes: --output-duplicates',
    { anyWord, limits: ['-N', '--read-bytes'] },
  ),
  hexdump: reader('getopt', 'hexdump(1)', '-b -c -C -d -e: -n: -o -s: -v -x --canonical --length: --skip:', {
    anyWord,
    limits: ['-n', '--length'],
  }),
  hd: reader('getopt', 'hexdump(1)', '-b -c -C -d -e: -n: -o -s: -v -x', { anyWord }),
  // `-r` is left out, because it turns a dump back into bytes. A second operand names the file that xxd writes.
  xxd: reader('apart', 'xxd(1)', '-a -b -c: -e -g: -i -l: -n: -o: -p -ps -s: -u', { most: 1, written: true }),
  strings: reader(
    'getopt',
    'strings(1)',
    '-a -f -n: -t: -e: -o -w --all --bytes: --radix: --encoding: --print-file-name',
    {
      numbers: true,
      responseFiles: true,
    },
  ),
  base64: reader(
    'getopt',
    "GNU base64(1); BSD's base64 writes a file with -o",
    '-d -i -w: --decode --ignore-garbage --wrap:',
    { anyWord },
  ),
  base32: reader('getopt', 'base32(1)', '-d -i -w: --decode --ignore-garbage --wrap:', { anyWord }),
  ...Object.fromEntries(
    ['md5sum', 'sha1sum', 'sha224sum', 'sha256sum', 'sha384sum', 'sha512sum'].map((name) => [
      name,
      reader('getopt', `${name}(1)`, checksumOptions, { anyWord }),
    ]),
  ),
  b2sum: reader('getopt', 'b2sum(1)', '-b -c -l: -t -z --length: --binary --check --tag --text', { anyWord }),
  shasum: reader('getopt', 'shasum(1)', '-a: -b -c -t -U -q -s --algorithm: --binary --check --text', { anyWord }),
  cksum: reader('getopt', 'cksum(1)', '-a: -l: -c --algorithm: --length: --check --tag --untagged', { anyWord }),
  sum: reader('getopt', 'sum(1)', '-r -s --sysv', { anyWord }),
  nm: reader(
    'getopt',
    'nm(1)',
    '-a -A -C -D -g -l -n -p -P -S -r -u --demangle? --dynamic --defined-only --undefined-only --extern-only --size-sort --numeric-sort',
    { responseFiles: true },
  ),
  readelf: reader(
    'getopt',
    'readelf(1)',
    '-a -h -l -S -s -e -n -r -d -V -A -W --all --file-header --program-headers --sections --symbols --dynamic --wide --notes --relocs',
    { responseFiles: true },
  ),
  // These options are left out: `-S`, `-l`, `-g`, `-W` and similar ones, which may download sources (debuginfod), and `--plugin`, which loads code.
  objdump: reader(
    'getopt',
    'objdump(1)',
    '-a -b: -C -d -D -f -h -i -j: -m: -M: -p -r -R -s -t -T -V -w -x -z --all-headers --demangle? --disassemble? --disassemble-all --dynamic-syms --file-headers --full-contents --private-headers --reloc --section: --section-headers --syms --wide',
    { responseFiles: true },
  ),
  size: reader('getopt', 'size(1)', '-A -B -G -d -o -x -t', { responseFiles: true }),
}
