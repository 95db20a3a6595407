import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { IS_RELEASE } from '../../../lib/program-version.ts';

/** Files that container engines put into containers. */
const IN_CONTAINER = ['/.dockerenv', '/run/.containerenv'];

/** What to do where Homeport is not the Debian package. `given`: the file of a package, if there was one. */
export function otherInstallation(
  root: string,
  given: string | undefined,
  exists: (path: string) => boolean = existsSync,
  isRelease = IS_RELEASE,
): string {
  const why = '"homeport upgrade" upgrades the Debian package, which this Homeport is not from.';
  const backup = 'Make a platform backup first ("homeport platform backup create FOLDER").';
  if (IN_CONTAINER.some((path) => exists(path)))
    return `${why} In a container: ${backup} Then pull or build the image of the newer version, and start it with the same volume (docs/container.md).`;
  if (exists(join(root, '.git')))
    return `${why} In a clone: ${backup} Then run git pull && npm ci, and restart Homeport (docs/operations.md, Upgrade).`;
  if (isRelease)
    return `${why} ${backup} Then run install.sh --archive of the newer release, and restart Homeport (docs/install.md, Upgrade).`;
  return given === undefined
    ? `${why} ${backup} Then install the newer version as you installed this one, and restart Homeport.`
    : `${why} On Debian, install the package with apt-get: apt-get install ${given}`;
}
