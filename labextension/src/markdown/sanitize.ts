/** The last word on what an answer may put into the page: a short list of tags and, per tag, of attributes. */
import createDOMPurify from 'dompurify';
import type { DOMPurify } from 'dompurify';
import { isInlinePicture, safeLink } from './links';

const TAGS =
  'a b blockquote br code del div em h1 h2 h3 h4 h5 h6 hr i img input kbd li mark ol p pre s small span strong ' +
  'sub sup table tbody td th thead tr u ul';
const ATTRIBUTES = 'align alt checked class colspan disabled href rowspan src start title type';
/** Classes that our own renderer writes; anything else would borrow the looks of the panel or of JupyterLab. */
const CLASSES =
  /^(?:language-[\w+#.-]{1,40}|cc-math(?: cc-math-display)?|cc-picture|cc-picture-blocked|cc-table|cc-checkbox)$/;
/** Each of these finds its own direction from its own words. */
const OWN_DIRECTION: ReadonlySet<string> = new Set('P LI TD TH H1 H2 H3 H4 H5 H6 BLOCKQUOTE'.split(' '));

let purifier: DOMPurify | undefined;

/** Nodes of an inert document: nothing in them is fetched or run while they are looked at. */
export function sanitize(html: string): DocumentFragment {
  purifier ??= prepared();
  return purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS.split(' '),
    ALLOWED_ATTR: ATTRIBUTES.split(' '),
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true
  });
}

function prepared(): DOMPurify {
  // An instance of our own: hooks of a shared one would reach into other extensions.
  const own = createDOMPurify(window);
  own.addHook('afterSanitizeAttributes', node => {
    const given = node.getAttribute('class');
    if (given !== null && !CLASSES.test(given)) node.removeAttribute('class');
    if (OWN_DIRECTION.has(node.tagName)) node.setAttribute('dir', 'auto');
    if (node.tagName === 'A') holdLink(node);
    if (node.tagName === 'IMG' && !isInlinePicture(node.getAttribute('src') ?? '')) node.remove();
    if (node.tagName === 'INPUT') holdCheckbox(node);
  });
  return own;
}

function holdLink(link: Element): void {
  const href = safeLink(link.getAttribute('href') ?? '');
  if (href === undefined) {
    link.removeAttribute('href');
    return;
  }
  link.setAttribute('href', href);
  link.setAttribute('title', href.slice(0, 300));
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer nofollow');
}

function holdCheckbox(input: Element): void {
  if (input.getAttribute('type') === 'checkbox') input.setAttribute('disabled', '');
  else input.remove();
}
