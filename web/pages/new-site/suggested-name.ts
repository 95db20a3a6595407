const SHORTEST = 3;
const LONGEST = 40;

/** Returns a name for the first install of a site: "Café Linde" gives "cafe-linde". Empty if the name has too few letters. */
export function suggestedName(site: string): string {
  const name = site
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, LONGEST)
    .replace(/-+$/, '');
  return name.length < SHORTEST ? '' : name;
}
