import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

// For `node --import`: when the program ends, the names of the packages that it has loaded are in the file that LOADED_PACKAGES names.
const packages = new Set<string>();
registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^./][^/]*)/.exec(url) ?? [];
    if (name !== undefined) packages.add(name);
    return nextLoad(url, context);
  },
});
const file = process.env.LOADED_PACKAGES ?? '';
process.on('exit', () => writeFileSync(file, JSON.stringify([...packages].sort())));
