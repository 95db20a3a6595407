/** The install that answers each host name, if several claim it. */
export interface NameClaims {
  /** Replaces the names of an install. `isDefault`: whether the name is its default domain. */
  set(installId: string, names: Iterable<[name: string, isDefault: boolean]>): void;
  delete(installId: string): void;
  /** The install that answers a name: the one whose default domain it is, or the one with the lowest id. */
  holderOf(name: string): string | undefined;
  /** The installs that claim a name, its holder first. */
  claimantsOf(name: string): readonly string[];
  /** The names that an install claims. */
  namesOf(installId: string): readonly string[];
  /** Every claimed name. */
  names(): string[];
}

interface Claim {
  id: string;
  isDefault: boolean;
}

/** Creates claims whose holders depend on the present names only, not on the order in which they came. */
export function createNameClaims(): NameClaims {
  const namesOf = new Map<string, string[]>();
  /** By name, the holder's first. */
  const claims = new Map<string, Claim[]>();

  function remove(installId: string): void {
    for (const name of namesOf.get(installId) ?? []) {
      const left = (claims.get(name) ?? []).filter(({ id }) => id !== installId);
      if (left.length === 0) claims.delete(name);
      else claims.set(name, left);
    }
    namesOf.delete(installId);
  }

  return {
    set(id, names) {
      remove(id);
      const claimed = new Map(names);
      namesOf.set(id, [...claimed.keys()]);
      for (const [name, isDefault] of claimed) {
        claims.set(name, [...(claims.get(name) ?? []), { id, isDefault }].sort(byRank));
      }
    },
    delete: remove,
    holderOf: (name) => claims.get(name)?.[0]?.id,
    claimantsOf: (name) => (claims.get(name) ?? []).map(({ id }) => id),
    namesOf: (installId) => namesOf.get(installId) ?? [],
    names: () => [...claims.keys()],
  };
}

function byRank(a: Claim, b: Claim): number {
  const own = Number(b.isDefault) - Number(a.isDefault);
  return own !== 0 ? own : a.id < b.id ? -1 : 1;
}
