/** The program that migrated the database last. */
export interface ProgramVersionRow {
  one: 1;
  /** As in package.json. */
  version: string;
}
