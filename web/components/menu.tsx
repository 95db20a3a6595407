import { type ReactNode, type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import buttonStyles from './button.module.css';
import styles from './menu.module.css';

export type MenuEntry =
  | { label: string; href: string; current?: boolean }
  | { label: string; onSelect(): void };

/**
 * A button that opens a list of links and buttons. It follows the disclosure pattern of the ARIA Authoring Practices,
 * which suits links better than role=menu. Escape, a click outside and tabbing out close it.
 */
export function Menu({
  label,
  children,
  entries,
  small = false,
}: {
  label: string;
  children: ReactNode;
  entries: readonly MenuEntry[];
  small?: boolean;
}) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLUListElement>(null);
  useLeftEdgeVisible(list, open);

  useEffect(() => {
    if (!open) return;
    const leave = (event: Event) => {
      if (event.target instanceof Node && !whole.current?.contains(event.target)) setOpen(false);
    };
    const closeOnEscape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener('pointerdown', leave);
    document.addEventListener('focusin', leave);
    document.addEventListener('keydown', closeOnEscape);
    return () => {
      document.removeEventListener('pointerdown', leave);
      document.removeEventListener('focusin', leave);
      document.removeEventListener('keydown', closeOnEscape);
    };
  }, [open]);

  return (
    <div ref={whole} className={styles.menu}>
      <button
        ref={button}
        type="button"
        className={small ? `${buttonStyles.button} ${buttonStyles.small}` : buttonStyles.button}
        aria-label={label}
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

const EDGE_PX = 16;

/** Aligns the list with the right edge of its button, but keeps its left edge on the screen. */
function useLeftEdgeVisible(list: RefObject<HTMLElement | null>, open: boolean): void {
  useLayoutEffect(() => {
    if (!open || !list.current) return;
    const { style } = list.current;
    style.translate = 'none';
    const missing = EDGE_PX - list.current.getBoundingClientRect().left;
    if (missing > 0) style.translate = `${missing}px`;
  }, [list, open]);
}
