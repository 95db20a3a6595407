import { type ReactNode, type RefObject, useId, useLayoutEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import buttonStyles from './button.module.css';
import styles from './menu.module.css';

export type MenuEntry =
  | { label: string; href: string; current?: boolean }
  | { label: string; onSelect(): void };

/**
 * A button that opens a list of links and buttons. It follows the disclosure pattern of the ARIA Authoring Practices,
 * which suits links better than role=menu. Arrow keys move between the entries. Escape, a click outside and tabbing out close it.
 */
export function Menu({
  label,
  children,
  entries,
  small = false,
  bare = false,
  current = false,
}: {
  label: string;
  children: ReactNode;
  entries: readonly MenuEntry[];
  small?: boolean;
  /** Without a border, as wide as its place: for the sidebar. */
  bare?: boolean;
  /** Whether an open page is one of the entries or below one. */
  current?: boolean;
}) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLUListElement>(null);
  usePlacement(button, list, open);

  // Before the next paint, because the next key may come before it.
  useLayoutEffect(() => {
    if (!open) return;
    const leave = (event: Event) => {
      if (event.target instanceof Node && !whole.current?.contains(event.target)) setOpen(false);
    };
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape') {
        setOpen(false);
        button.current?.focus();
        return;
      }
      const next = entryAfter(event.key, list.current);
      if (next === undefined) return;
      event.preventDefault();
      next.focus();
    };
    document.addEventListener('pointerdown', leave);
    document.addEventListener('focusin', leave);
    document.addEventListener('keydown', press);
    return () => {
      document.removeEventListener('pointerdown', leave);
      document.removeEventListener('focusin', leave);
      document.removeEventListener('keydown', press);
    };
  }, [open]);

  return (
    <div ref={whole} className={styles.menu}>
      <button
        ref={button}
        type="button"
        className={
          bare ? styles.bare : small ? `${buttonStyles.button} ${buttonStyles.small}` : buttonStyles.button
        }
        aria-label={label}
        aria-current={current || undefined}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {children}
      </button>
      <ul ref={list} id={id} className={styles.list} hidden={!open}>
        {entries.map((entry) => (
          <li key={entry.label}>
            {'href' in entry ? (
              <Link
                href={entry.href}
                className={styles.entry}
                aria-current={entry.current || undefined}
                onClick={() => setOpen(false)}
              >
                {entry.label}
              </Link>
            ) : (
              <button
                type="button"
                className={styles.entry}
                onClick={() => {
                  setOpen(false);
                  // The entry is hidden now. A dialog that it opens returns the focus to the menu button.
                  button.current?.focus();
                  entry.onSelect();
                }}
              >
                {entry.label}
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Returns the entry that gets the focus after a key; undefined for other keys. From the button, ↓ leads to the first and ↑ to the last. */
function entryAfter(key: string, list: HTMLElement | null): HTMLElement | undefined {
  const entries = [...(list?.querySelectorAll<HTMLElement>('a, button') ?? [])];
  const at = entries.findIndex((entry) => entry.matches(':focus'));
  switch (key) {
    case 'ArrowDown':
      return entries[(at + 1) % entries.length];
    case 'ArrowUp':
      return entries.at(at === -1 ? -1 : at - 1);
    case 'Home':
      return entries[0];
    case 'End':
      return entries.at(-1);
    default:
      return undefined;
  }
}

const EDGE_PX = 16;
const GAP_PX = 6;

/**
 * Places the list below its button, or above it without room, aligned with its right edge, and keeps it on the screen. The list
 * is fixed, because tables would cut it off, so it follows its button when anything scrolls.
 */
function usePlacement(
  button: RefObject<HTMLElement | null>,
  list: RefObject<HTMLElement | null>,
  open: boolean,
): void {
  useLayoutEffect(() => {
    if (!open) return;
    const place = () => {
      if (!list.current || !button.current) return;
      const { style, offsetWidth, offsetHeight } = list.current;
      const { top, right, bottom, width } = button.current.getBoundingClientRect();
      const { clientWidth, clientHeight } = document.documentElement;
      style.minWidth = `${width}px`;
      style.left = `${Math.max(EDGE_PX, right - Math.max(offsetWidth, width))}px`;
      const hasRoom = bottom + GAP_PX + offsetHeight <= clientHeight || top < offsetHeight + GAP_PX;
      style.top = `${hasRoom ? bottom + GAP_PX : top - GAP_PX - offsetHeight}px`;
      style.maxWidth = `${clientWidth - 2 * EDGE_PX}px`;
    };
    place();
    window.addEventListener('scroll', place, { capture: true, passive: true });
    window.addEventListener('resize', place);
    return () => {
      window.removeEventListener('scroll', place, { capture: true });
      window.removeEventListener('resize', place);
    };
  }, [button, list, open]);
}
