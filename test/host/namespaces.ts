import { randomBytes, randomInt } from 'node:crypto';
import { runCommand } from '../../src/lib/run-command.ts';

/** A test's own network namespace, connected to this one by a virtual cable. */
export interface Namespace {
  /** Prefix of a command that runs inside. */
  enter: readonly string[];
  /** Its address, as seen from here and from the others. */
  address: string;
  /** The address of this side. */
  gateway: string;
  /** Lets it send packets to another one. */
  reach(other: Pick<Namespace, 'address'>): Promise<void>;
  /** Unplugs the cable, or plugs it in again. */
  setLink(state: 'up' | 'down'): Promise<void>;
  remove(): Promise<void>;
}

const ip = (...args: string[]) => runCommand('/usr/sbin/ip', args);

/** A namespace with the addresses `10.<subnet>.2`, and `.1` on this side. There are enough subnets for concurrent tests. */
export async function createNamespace(): Promise<Namespace> {
  const word = randomBytes(3).toString('hex');
  const [name, here, there] = [`hpt-${word}`, `hpa${word}`, `hpb${word}`];
  const subnet = `${randomInt(208, 224)}.${randomInt(256)}`;
  const address = `10.${subnet}.2`;
  await ip('netns', 'add', name);
  try {
    await ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there);
    await ip('link', 'set', there, 'netns', name);
    await ip('address', 'add', `10.${subnet}.1/24`, 'dev', here);
    await ip('link', 'set', here, 'up');
    await ip('-n', name, 'address', 'add', `${address}/24`, 'dev', there);
    await ip('-n', name, 'link', 'set', there, 'up');
    await ip('-n', name, 'link', 'set', 'lo', 'up');
  } catch (error) {
    await remove();
    throw error;
  }

  async function remove(): Promise<void> {
    // Removing the namespace also removes the cable.
    await ip('netns', 'delete', name);
    await ip('link', 'delete', here).catch(() => {});
  }

  return {
    enter: ['/usr/sbin/ip', 'netns', 'exec', name],
    address,
    gateway: `10.${subnet}.1`,
    reach: async (other) =>
      void (await ip('-n', name, 'route', 'add', other.address, 'via', `10.${subnet}.1`)),
    setLink: async (state) => void (await ip('link', 'set', here, state)),
    remove,
  };
}
