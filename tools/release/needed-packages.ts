import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

const Names = Type.Record(Type.String(), Type.String());
const Manifest = Type.Object({
  dependencies: Names,
  optionalDependencies: Names,
});
const Lock = Type.Object({
  packages: Type.Record(
    Type.String(),
    Type.Object({
      dependencies: Type.Optional(Names),
      optionalDependencies: Type.Optional(Names),
      peerDependencies: Type.Optional(Names),
      peerDependenciesMeta: Type.Optional(
        Type.Record(Type.String(), Type.Object({ optional: Type.Optional(Type.Boolean()) })),
      ),
    }),
  ),
});

/** Folders of the sources that an installed release runs. The portal and the program are built by then. */
const SOURCES = ['src', 'bin', 'packages'];
const BUILDER = 'build-program.ts';
/** Node comes as a package that no source imports. */
const NODE = /^node-(bin-)?(linux|darwin)-/;

/**
 * Folders of the packages that the program below `root` needs to run, such as `node_modules/pg`: those that its sources name, and what
 * these depend on. Of the packages for several platforms, some are not installed.
 */
export function neededPackages(root: string): Set<string> {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const manifest = Value.Parse(Manifest, read('package.json'));
  const { packages } = Value.Parse(Lock, read('package-lock.json'));
  const sources = SOURCES.flatMap((folder) => sourcesBelow(join(root, folder)));
  const isNamed = (name: string) =>
    NODE.test(name) || sources.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`));
  const needed = new Set<string>();
  const visit = (from: string, name: string): void => {
    const folder = folderOf(packages, from, name);
    if (folder === null || needed.has(folder)) return;
    needed.add(folder);
    for (const other of dependenciesOf(packages[folder] ?? {})) visit(folder, other);
  };
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    if (isNamed(name)) visit('', name);
  }
  return needed;
}

/** As Node looks for a package: beside the importing one, and further up. Null for one that no platform of the lock file has. */
function folderOf(packages: Record<string, unknown>, from: string, name: string): string | null {
  const folder = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
  if (folder in packages) return folder;
  return from === ''
    ? null
    : folderOf(packages, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name);
}

type LockedPackage = Static<typeof Lock>['packages'][string];

function dependenciesOf(one: LockedPackage): string[] {
  const peers = Object.keys(one.peerDependencies ?? {}).filter(
    (name) => one.peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [...Object.keys({ ...one.dependencies, ...one.optionalDependencies }), ...peers];
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name) && entry.name !== BUILDER)
    .filter(({ name }) => !/[.-](test|fixture)\.ts$/.test(name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}
