/** Something that the palette can do or open. */
export interface Command {
  /** Identifies it among all commands. */
  id: string;
  label: string;
  /** What it is or belongs to, in a few words. */
  detail?: string;
  /** Whether it asks for more, so that the palette stays open. */
  asks?: true;
  run(): void;
}

/** Commands under one heading. */
export interface CommandGroup {
  value: string;
  items: readonly Command[];
}

const words = (text: string) => text.toLowerCase().split(/\s+/).filter(Boolean);

/** Returns the commands whose label or detail contains each typed word, without empty groups. */
export function matching(groups: readonly CommandGroup[], typed: string): CommandGroup[] {
  const wanted = words(typed);
  return groups
    .map(({ value, items }) => ({
      value,
      items: items.filter(({ label, detail = '' }) => {
        const text = `${label} ${detail}`.toLowerCase();
        return wanted.every((word) => text.includes(word));
      }),
    }))
    .filter(({ items }) => items.length > 0);
}
