import { randomBytes, randomInt } from 'node:crypto';
import { runCommand } from '../../src/hosting/linux/machine/run-command.ts';

/** A network namespace of a test's own, joined to this one by a cable. */
export interface Namespace {
  /** Put before a command, it runs in there. */
  enter: readonly string[];
  /** Its address, as seen from here and from the others. */
  address: string;
  /** Unplugs the cable, and plugs it in again. */
  setLink(state: 'up' | 'down'): Promise<void>;
  remove(): Promise<void>;
}

const ip = (...args: string[]) => runCommand('/usr/sbin/ip', args);

/** A namespace at addresses of its own, `10.<subnet>.2`, this side being `.1`; so many subnets that no two tests take the same. */
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
    // The cable goes with the namespace that one end of it is in.
    await ip('netns', 'delete', name);
    await ip('link', 'delete', here).catch(() => {});
  }

  return {
    enter: ['/usr/sbin/ip', 'netns', 'exec', name],
    address,
    setLink: async (state) => void (await ip('link', 'set', here, state)),
    remove,
  };
}
