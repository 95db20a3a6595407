import type { InstallState } from '../../src/hosting/contract/host.ts';

/** An install that is served by one name, with nothing special about it. */
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
