import type { Static } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import type { Platform } from '../../platform.ts';
import type { signedInUserSchema } from '../sessions/schema.ts';

export interface ProfileService {
  update(
    caller: Caller,
    change: { first_name?: string; last_name?: string; phone?: string | null },
  ): Promise<Static<typeof signedInUserSchema>>;
}

const unbuilt = async (): Promise<never> => {
  throw new Error('being built');
};

export function createProfileService(_platform: Platform): ProfileService {
  return { update: unbuilt };
}
