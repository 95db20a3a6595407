import type { InstallState } from '../../src/hosting/contract/install-state.ts';

/** An install with one host name and no special settings. */
export function plainState(name: string): InstallState {
  return {
    id: crypto.randomUUID(),
    name,
    primaryHostname: `${name}.sites.test`,
    hostnames: [{ name: `${name}.sites.test`, redirectTo: null, forceHttps: false, certificate: null }],
    offload: null,
    phpVersion: null,
    wordpressVersion: null,
  };
}
