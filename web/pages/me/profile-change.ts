/** The profile that users edit themselves. */
export interface Profile {
  first_name: string;
  last_name: string;
  phone: string | null;
}

/**
 * Returns only the changed fields, so that an old phone number that the server would reject today does not prevent
 * other changes.
 */
export function profileChange(before: Profile, typed: Record<keyof Profile, string>): Partial<Profile> {
  const phone = typed.phone.trim() || null;
  return {
    ...(typed.first_name === before.first_name ? {} : { first_name: typed.first_name }),
    ...(typed.last_name === before.last_name ? {} : { last_name: typed.last_name }),
    ...(phone === before.phone ? {} : { phone }),
  };
}
