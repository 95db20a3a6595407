/** An element that has the focus, and where the focus goes if that element leaves the page. */
interface FocusRecord {
  element: HTMLElement;
  dialog: HTMLElement | null;
  /** The heading of the section around the element. */
  heading: HTMLElement | null;
  /** The element that had the focus before the dialog. */
  before: FocusRecord | null;
  path: string;
}

let focused: FocusRecord | null = null;

/**
 * Keeps the focus on the page when the focused element is removed, by this user or by another one. Browsers would reset it to the top
 * of the document, and keyboard users would lose their place. A dialog returns it to what opened it. If that is gone, too, the heading
 * of its section takes the focus, or else the content of the page.
 */
export function keepFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLElement) focused = recordOf(target, focused);
  });
  document.addEventListener('focusout', ({ target }) => {
    // Some browsers send this event before they remove an element, so look again when it may be gone. While another window has the
    // focus, the document keeps its active element. A dialog returns the focus even if it has lost it to a click.
    queueMicrotask(() => {
      if (focused?.element !== target || focused?.dialog !== null) return;
      if (focused.element.isConnected && document.activeElement !== target) focused = null;
    });
  });
  new MutationObserver(() => {
    const isNowhere = document.activeElement === null || document.activeElement === document.body;
    if (isNowhere && focused !== null && !focused.element.isConnected) {
      placeAfter(focused)?.focus({ preventScroll: true });
    }
  }).observe(document, { childList: true, subtree: true });
}

function recordOf(element: HTMLElement, previous: FocusRecord | null): FocusRecord {
  const dialog = element.closest<HTMLElement>('[role="dialog"], [role="alertdialog"]');
  const isSameDialog = previous?.dialog === dialog;
  return {
    element,
    dialog,
    heading: headingOf(element),
    before: dialog === null ? null : isSameDialog ? (previous?.before ?? null) : previous,
    path: window.location.pathname,
  };
}

/** The heading that names the section around an element: its own, or the title of the page. */
function headingOf(element: HTMLElement): HTMLElement | null {
  const id = element.closest('section[aria-labelledby]')?.getAttribute('aria-labelledby') ?? null;
  return id === null ? null : document.getElementById(id);
}

/** The first place of a record, and of those before it, that is still on the page; the content of the page if it is another page. */
function placeAfter(lost: FocusRecord): HTMLElement | null {
  const isHere = lost.path === window.location.pathname;
  for (let record: FocusRecord | null = isHere ? lost : null; record !== null; record = record.before) {
    const places = [record.element, record.dialog, record.heading];
    const place = places.find((found) => found?.isConnected);
    if (place) return place;
  }
  return document.getElementById('content');
}
