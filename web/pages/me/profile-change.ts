/** What people tell of themselves. */
export interface Profile {
  first_name: string;
  last_name: string;
  phone: string | null;
}

/**
 * What somebody has changed, and nothing else: a telephone number of before there was a rule for it must not keep them from changing
 * their name.
 */
export function profileChange(before: Profile, typed: Record<keyof Profile, string>): Partial<Profile> {
  const phone = typed.phone.trim() || null;
  return {
    ...(typed.first_name === before.first_name ? {} : { first_name: typed.first_name }),
    ...(typed.last_name === before.last_name ? {} : { last_name: typed.last_name }),
    ...(phone === before.phone ? {} : { phone }),
  };
}
