/** The program version that last migrated the database. */
export interface ProgramVersionRow {
  one: 1;
  /** As in package.json. */
  version: string;
}
