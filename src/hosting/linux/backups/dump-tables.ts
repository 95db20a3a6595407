import type { IndexedTable } from '../../websites/backup-contents/contents-file.ts';

/** Comments of mariadb-dump that begin a section. Texts in statements have no line breaks, so no row looks like one. */
const TABLE = /^-- (?:Table structure|Sequence structure) for (?:table|sequence) `((?:[^`]|``)+)`$/;
const OTHER =
  /^-- (?:Temporary (?:table|view) structure for view|Dumping (?:events|routines) for database|Final view structure for view|Dump completed|GTID|Insufficient privileges|Sequence structure)/;
const ROWS_IN_LINE = /^INSERT INTO `(?:[^`]|``)+` VALUES \(/;
/** A line is a section if its start says so. Names have at most 64 characters. */
const LONGEST_LINE = 600;
const [NEW_LINE, ROW] = [10, 40];

export interface DumpReader {
  push(bytes: Buffer): void;
  /** Call it after the last bytes. Returns the length of the dump. */
  end(): number;
}

/**
 * Finds the tables of a dump of mariadb-dump while it is streamed, with their parts of it: structure, rows and triggers. Rows are
 * counted by lines, of which each has one.
 *
 * @param start where the dump begins in the archive
 */
export function readDumpTables(start: number, found: (table: IndexedTable) => void): DumpReader {
  /** Where the next byte is, and where the present line and the comment above it began. */
  let position = start;
  let lineStart = start;
  let line = '';
  let isRow = false;
  let previous = { text: '', start };
  let table: { name: string; place: number; rows: number | null } | null = null;

  function close(end: number): void {
    if (table === null) return;
    const { name, place, rows } = table;
    found({ name, rows, bytes: end - place, span: { place, length: end - place } });
    table = null;
  }

  function endLine(): void {
    if (table !== null && table.rows !== null) {
      if (isRow) table.rows += 1;
      // Servers before MariaDB 10.5 write many rows into this line.
      else if (ROWS_IN_LINE.test(line)) table.rows = null;
    }
    // Comments begin with a line of two hyphens, which belongs to the section.
    const begin = previous.text === '--' ? previous.start : lineStart;
    const name = TABLE.exec(line)?.[1];
    if (name !== undefined) {
      close(begin);
      table = { name: name.replaceAll('``', '`'), place: begin, rows: 0 };
    } else if (OTHER.test(line)) close(begin);
    previous = { text: line, start: lineStart };
  }

  return {
    push(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const end = bytes.indexOf(NEW_LINE, at);
        const stop = end < 0 ? bytes.length : end;
        if (position + at === lineStart) isRow = bytes[at] === ROW;
        if (!isRow && line.length < LONGEST_LINE) {
          line += bytes.toString('utf8', at, Math.min(stop, at + LONGEST_LINE));
        }
        at = stop;
        if (end < 0) break;
        endLine();
        at += 1;
        line = '';
        isRow = false;
        lineStart = position + at;
      }
      position += bytes.length;
    },
    end() {
      close(position);
      return position - start;
    },
  };
}
