import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';

/** Versions in order, each with the checksums of the migrations that came with it, by name. */
export const ReleasedMigrations = Type.Record(Type.String(), Type.Record(Type.String(), Type.String()));
export type ReleasedMigrations = Static<typeof ReleasedMigrations>;

/** `statements`: of each migration, by name. */
export function checksumsOf(statements: Record<string, readonly string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(statements).map(([name, lines]) => [
      name,
      createHash('sha256').update(JSON.stringify(lines)).digest('hex'),
    ]),
  );
}

/** The record with a version that brings all migrations which no earlier one has. */
export function withRelease(
  released: ReleasedMigrations,
  version: string,
  present: Record<string, string>,
): ReleasedMigrations {
  const former = Object.assign({}, ...Object.values(released));
  const added = Object.entries(present).filter(([name]) => !(name in former));
  return { ...released, [version]: Object.fromEntries(added) };
}

/** Versions whose data upgrade tests start from, in order. `making`: one that is being released, and has no data yet. */
export const versionsWithData = (released: ReleasedMigrations, making: string): string[] =>
  Object.keys(released).filter((version) => version !== making);

/** Faults of the present migrations: a sentence for each that a release has in another form. */
export function changedMigrations(released: ReleasedMigrations, present: Record<string, string>): string[] {
  return Object.entries(released).flatMap(([version, checksums]) =>
    Object.entries(checksums)
      .filter(([name, checksum]) => present[name] !== checksum)
      .map(
        ([name]) =>
          `${name} was released with ${version} and has changed since. Write a new migration instead.`,
      ),
  );
}
