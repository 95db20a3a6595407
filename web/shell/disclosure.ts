import { useLayoutEffect, useRef, useState } from 'react';

/** From this width on, the sidebar is always in sight (shell.module.css). */
const WIDE = '(min-width: 60rem)';

/**
 * The button that shows the sidebar on narrow screens. Escape, a link in it, a new page and a wider screen close it, so that the page
 * below it is usable again.
 */
export function useDisclosure(location: string) {
  const [isOpen, setIsOpen] = useState(false);
  const [openedAt, setOpenedAt] = useState(location);
  const button = useRef<HTMLButtonElement>(null);
  if (openedAt !== location) {
    setOpenedAt(location);
    setIsOpen(false);
  }
  // Before the next paint, because the next key may come before it.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const close = () => setIsOpen(false);
    const closeOnEscape = (event: KeyboardEvent) => {
      // The Escape of a dialog, or of a menu in the sidebar, closes only that.
      const within = document.querySelector('[role$="dialog"], #sidebar [aria-expanded="true"]');
      if (event.key !== 'Escape' || within) return;
      close();
      button.current?.focus();
    };
    // Also a link to the page that is open.
    const closeOnLink = ({ target }: MouseEvent) => {
      if (!(target instanceof Element && target.closest('#sidebar a'))) return;
      close();
      button.current?.focus();
    };
    const wide = window.matchMedia(WIDE);
    // Before the listeners of menus, which close on the same key.
    document.addEventListener('keydown', closeOnEscape, { capture: true });
    document.addEventListener('click', closeOnLink);
    wide.addEventListener('change', close);
    return () => {
      document.removeEventListener('click', closeOnLink);
      document.removeEventListener('keydown', closeOnEscape, { capture: true });
      wide.removeEventListener('change', close);
    };
  }, [isOpen]);
  return { isOpen, toggle: () => setIsOpen(!isOpen), button };
}
