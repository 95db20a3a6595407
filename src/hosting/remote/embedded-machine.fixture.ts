import { randomUUID } from 'node:crypto';
import { startHost, type TestHost } from '../embedded/embedded-host.fixture.ts';
import type { EmbeddedHostOptions } from '../embedded/embedded-host.ts';
import type { HostDescription, HostMachine, InstallRef } from '../host.ts';

/** A real host with what a host in a process of its own has besides. For tests. */
export interface TestMachine extends TestHost {
  machine: HostMachine;
  description: HostDescription;
  /** What `inspect` was asked, and `addWordpress`. */
  inspected: { expected: InstallRef[]; repair: boolean }[];
}

export async function startMachine(
  description: Partial<HostDescription> = {},
  changes: Omit<Partial<EmbeddedHostOptions>, 'clock'> = {},
): Promise<TestMachine> {
  const started = await startHost(changes);
  const { host } = started;
  const inspected: TestMachine['inspected'] = [];
  const whole: HostDescription = {
    id: randomUUID(),
    capacity: 10,
    phpVersions: ['8.4', '8.2'],
    wordpressVersions: ['6.8.7', '6.1.9'],
    reservedNames: [],
    ports: {
      http: host.addresses?.edgeHttp.port ?? 0,
      https: host.addresses?.edgeHttps.port ?? 0,
      ssh: host.addresses?.ssh.port ?? 0,
    },
    ...description,
  };
  return {
    ...started,
    description: whole,
    inspected,
    machine: {
      ...host,
      describe: async () => whole,
      async inspect(expected, repair) {
        inspected.push({ expected, repair });
        return expected.map(({ name }) => ({
          thing: `install ${name}`,
          message: 'It has no folder.',
          mended: repair ? true : null,
          remedy: null,
        }));
      },
      addWordpress: async (source) => source ?? '6.9.1',
    },
  };
}
