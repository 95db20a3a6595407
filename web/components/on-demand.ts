import { type ComponentType, lazy } from 'react';
import { isReachable, Unreachable } from '../api/failure.ts';

/**
 * A page, or a part of one, whose script is loaded when somebody goes there. Fails with Unreachable where it could not be loaded
 * because no server answered.
 */
export function onDemand<Module, Props extends object>(
  load: () => Promise<Module>,
  choose: (module: Module) => ComponentType<Props>,
) {
  return lazy(async () => {
    try {
      return { default: choose(await load()) };
    } catch (error) {
      throw (await isReachable()) ? error : new Unreachable('a part of the pages', { cause: error });
    }
  });
}
