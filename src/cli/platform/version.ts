import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describeVersion } from '../../lib/program-version.ts';

const MIGRATIONS = join(import.meta.dirname, '../../database/migrations');
const MIGRATION = /^(\d{4}-.+)\.ts$/;

/** The line that `--version` prints. The newest schema comes from the names of the files, because loading every migration slows each command. */
export function versionLine(): string {
  const names = readdirSync(MIGRATIONS).flatMap((file) => MIGRATION.exec(file)?.[1] ?? []);
  return describeVersion(names.sort().at(-1) ?? 'unknown');
}
