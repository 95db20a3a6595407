import { OBJECT_CACHE_EXTENSION } from '../machine/php-extensions.ts';
import {
  completingCommand,
  findPhpRuntimes,
  isComplete,
  missingModules,
  type PhpRuntime,
  shortcoming,
} from '../machine/php-runtimes.ts';
import type { Fault, Finding } from './finding.ts';
import type { InspectedHost } from './inspected-host.ts';

/** Finds PHP versions that lack extensions, with the websites that run on them. */
export async function inspectPhp(
  { layout, records }: Pick<InspectedHost, 'layout' | 'records'>,
  find: () => Promise<PhpRuntime[]> = () => findPhpRuntimes(layout),
): Promise<Finding[]> {
  const incomplete = (await find()).filter((runtime) => !isComplete(runtime));
  if (incomplete.length === 0) return [];
  const placed = await records.all();
  return incomplete.map((runtime) => {
    const names = placed
      .filter(({ placement }) => placement.phpVersion === runtime.version)
      .map(({ state }) => state.name)
      .sort();
    const users = names.length === 0 ? '' : ` Installs that run on it: ${names.join(', ')}.`;
    return {
      thing: `PHP ${runtime.version}`,
      message: `It ${shortcoming(runtime)}, so it is not offered to installs.${users}`,
      repair: null,
      remedy: remedyOf(runtime),
    };
  });
}

/** A website without the extension works, but slower, and says nothing about it. */
export function checkObjectCache(php: PhpRuntime, name: string): Fault[] {
  if (php.fault !== null || !missingModules(php).includes(OBJECT_CACHE_EXTENSION)) return [];
  const message = `It has no object cache, because PHP ${php.version} lacks ${OBJECT_CACHE_EXTENSION}.`;
  return [
    { message, repair: null, remedy: `${remedyOf(php)} Then run "homeport install php ${name} --restart".` },
  ];
}

function remedyOf(runtime: PhpRuntime): string {
  return `Run "${completingCommand(runtime)}" there.`;
}
