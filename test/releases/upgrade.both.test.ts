import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { afterEach, expect, inject, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { migrationStatements } from '../../src/database/migrate.ts';
import { isLater } from '../../src/lib/releases/version-order.ts';
import {
  changedMigrations,
  checksumsOf,
  ReleasedMigrations,
  versionsWithData,
  withRelease,
} from '../../tools/release/released-migrations.ts';
import { type DatabasePlace, databasePlace, temporaryFolder } from '../database.ts';
import { isLong, onlyInLong } from '../rounds.ts';
import { keepPlatform, upgradeKept } from './kept-platform.ts';

const HERE = import.meta.dirname;
const dialect = inject('postgresUrl') === '' ? 'sqlite' : 'postgres';
const released = Value.Parse(
  ReleasedMigrations,
  JSON.parse(readFileSync(join(HERE, 'migrations.json'), 'utf8')),
);
const versions = Object.keys(released);
/** `npm run release` sets it to keep data of this version. */
const { HOMEPORT_RELEASE_DATA: making = '' } = process.env;
const kept = versionsWithData(released, making);
const places: DatabasePlace[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await place.remove();
});

async function newPlace(): Promise<DatabasePlace> {
  const place = await databasePlace();
  places.push(place);
  return place;
}

it('has every released migration unchanged, and new ones in a version after the last release', () => {
  const present = checksumsOf(migrationStatements());
  expect(changedMigrations(released, present)).toEqual([]);
  const last = versions.at(-1) ?? '0.0.0';
  const added = Object.keys(withRelease(released, 'next', present).next ?? {});
  // The commit of a release has its version itself.
  const isRelease = manifest.version === last && added.length === 0;
  expect({
    version: manifest.version,
    last,
    isValid: isRelease || isLater(manifest.version, last),
  }).toMatchObject({
    isValid: true,
  });
});

for (const version of isLong ? kept : kept.slice(-1)) {
  it(`upgrades a platform of Homeport ${version} without losing anything`, async () => {
    await upgradeKept(await newPlace(), join(HERE, version, dialect));
  });
}

onlyInLong(it)('keeps a platform of this version for later ones', async () => {
  const folder = temporaryFolder();
  try {
    await keepPlatform(await newPlace(), folder.path);
    await upgradeKept(await newPlace(), folder.path);
  } finally {
    folder.remove();
  }
});

it.runIf(making !== '')('keeps the platform that a release leaves to the tests', async () => {
  const folder = join(HERE, making, dialect);
  await keepPlatform(await newPlace(), folder);
  await upgradeKept(await newPlace(), folder);
});
