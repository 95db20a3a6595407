import { COMMAND_OF, type CommandName } from '../hosting/contract/host-methods.ts';
import type { TraceCall } from '../hosting/remote/client.ts';

const isCommandName = (name: PropertyKey): name is CommandName => Object.hasOwn(COMMAND_OF, name);

/** A host in this process whose commands are calls, as those of a host in another process. */
export function tracedHost<Host extends object>(host: Host, name: string, callHost: TraceCall): Host {
  return new Proxy(host, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function' || !isCommandName(key)) return member;
      const { name: command, isIdleTalk } = COMMAND_OF[key];
      if (isIdleTalk) return member;
      return (...args: unknown[]) =>
        callHost({ command, host: name }, async () => Reflect.apply(member, target, args));
    },
  });
}
