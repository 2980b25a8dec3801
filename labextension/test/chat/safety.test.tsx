import { signal } from '@preact/signals';
import { render as show } from '@testing-library/preact';
import { describe, expect, it, vi } from 'vitest';
import { highlight } from '../../src/markdown/highlight';
import { Markdown } from '../../src/markdown/markdown';
import { HostContext } from '../../src/views/host-context';

const page = (source: string, typeset?: (node: HTMLElement) => void): HTMLElement =>
  show(
    <HostContext.Provider value={{ kind: 'cell', language: 'en', typeset }}>
      <Markdown text={signal(source)} live={false} />
    </HostContext.Provider>
  ).container as HTMLElement;

const HOSTILE: [string, string][] = [
  ['script', '<script>window.hit = 1</script>'],
  ['script in a paragraph', 'a <script src=//evil.example/x.js></script> b'],
  ['image with onerror', '<img src=x onerror=alert(1)>'],
  ['svg', '<svg onload=alert(1)><use href="//evil.example/a.svg#x"/></svg>'],
  ['style', '<style>body{background:url(//evil.example)}</style>'],
  ['style attribute', '<b style="background:url(https://evil.example/a)">x</b>'],
  ['iframe', '<iframe src="https://evil.example"></iframe><object data="//evil.example"></object><embed src=//e>'],
  ['iframe srcdoc', '<iframe srcdoc="<script>alert(1)</script>">'],
  ['javascript link', '[x](javascript:alert(1))'],
  ['javascript link with control characters', '[x](java\u0009script:alert(1)) [y](\u0001javascript:alert(1))'],
  ['javascript link with entities', '[x](java&#x09;script&colon;alert(1)) [y](&#106;avascript:alert(1))'],
  ['javascript autolink', '<javascript:alert(1)>'],
  ['vbscript link', '[x](vbscript:msgbox)'],
  ['data link', '[x](data:text/html;base64,PHNjcmlwdD4=)'],
  ['link by reference', '[x][r]\n\n[r]: javascript:alert(1)'],
  ['HTML link', '<a href="javascript:alert(1)" onclick="alert(1)">x</a>'],
  ['remote image', '![alt](https://evil.example/t.png)'],
  ['remote image by reference', '![alt][r]\n\n[r]: https://evil.example/t.png'],
  ['remote image in a link', '[![a](https://evil.example/t.png)](https://example.org)'],
  ['protocol-relative image', '![alt](//evil.example/t.png)'],
  ['image with a broken-out address', '![a](https://evil.example/"onerror="alert(1))'],
  ['image with a broken-out text', '![a" onerror="alert(1)](data:image/png;base64,AAAA)'],
  ['SVG as data', '![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)'],
  ['HTML image with srcset', '<img srcset="https://evil.example/a 2x"><picture><source srcset=//e></picture>'],
  ['video, audio', '<video src=//evil.example poster=//e autoplay></video><audio src=//e></audio>'],
  ['meta refresh', '<meta http-equiv=refresh content="0;url=https://evil.example"><base href=//evil.example>'],
  ['stylesheet', '<link rel=stylesheet href=//evil.example/a.css>'],
  ['form', '<form action=//evil.example><input name=q autofocus onfocus=alert(1)><button>go</button></form>'],
  ['math element', '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>'],
  ['details', '<details open ontoggle=alert(1)>'],
  [
    'template',
    '<template><script>alert(1)</script></template><noscript><p title="</noscript><img src=x onerror=a>">'
  ],
  ['comment', '<!--><img src=x onerror=alert(1)>-->'],
  ['fence language', '```"><img src=x onerror=alert(1)>\nx\n```'],
  ['fence in a list', '- a\n\n  ```x"onload=alert(1)\n  <script>alert(1)</script>\n  ```'],
  ['code', '```html\n<script>alert(1)</script><img src=x onerror=alert(1)>\n```'],
  ['table cell', '| a |\n|---|\n| <img src=x onerror=alert(1)> |'],
  ['math text', '$<img src=x onerror=alert(1)>$'],
  ['task with HTML', '- [x] <input type=image src=//evil.example>']
];

const ALLOWED_ATTRIBUTES = new Set(
  (
    'align alt aria-label aria-hidden aria-busy checked class d dir disabled fill focusable height href rel role src ' +
    'start stroke stroke-linecap stroke-linejoin stroke-width tabindex target title type viewBox width'
  ).split(' ')
);

describe('hostile text', () => {
  it.each(HOSTILE)('%s leaves nothing that runs or asks anybody', (_, source) => {
    const box = page(source);
    expect(
      box.querySelector('script, style, iframe, object, embed, form, link, meta, base, video, audio')
    ).toBeNull();
    expect(box.querySelector('picture, source, template, math, details, use, textarea, select')).toBeNull();
    for (const node of box.querySelectorAll('*')) {
      for (const { name } of node.attributes) expect([...ALLOWED_ATTRIBUTES]).toContain(name);
    }
    for (const image of box.querySelectorAll('img')) {
      expect(image.getAttribute('src')).toMatch(/^data:image\/(png|jpeg|gif|webp);base64,/);
    }
    for (const link of box.querySelectorAll('a[href]')) {
      expect(link.getAttribute('href')).toMatch(/^(https?:|mailto:)/);
      expect(link).toHaveProperty('rel', 'noopener noreferrer nofollow');
      expect(link).toHaveProperty('target', '_blank');
    }
    for (const input of box.querySelectorAll('input'))
      expect(input).toMatchObject({ type: 'checkbox', disabled: true });
    expect(window).not.toHaveProperty('hit');
  });

  it('shows a remote picture as words with its host, to be clicked', () => {
    const link = page('![a plot](https://pics.example/t.png)').querySelector('a');
    expect(link?.textContent).toBe('image: a plot (pics.example)');
    expect(link?.getAttribute('href')).toBe('https://pics.example/t.png');
  });

  it('shows a small picture that is part of the text, and not a large one', () => {
    expect(page('![dot](data:image/png;base64,iVBORw0KGgo=)').querySelector('img')?.alt).toBe('dot');
    expect(page(`![big](data:image/png;base64,${'A'.repeat(400_000)})`).querySelector('img')).toBeNull();
  });

  it('keeps relative addresses away from Jupyter', () => {
    expect(page('[out](/logout) ![p](files/plot.png)').querySelector('a, img')).toBeNull();
  });

  it('shows HTML it does not know as the text it is', () => {
    expect(page('a <blink>b</blink>').textContent).toContain('a <blink>b</blink>');
  });

  it('keeps harmless tags without their attributes', () => {
    expect(page('H<sub>2</sub>O<br>next').querySelector('sub')?.textContent).toBe('2');
  });

  it('writes out characters that would reorder code', () => {
    expect(page('```python\nif a:\u202e # x\n```').textContent).toContain('⟨U+202E⟩');
  });

  it('lets each block find its own direction', () => {
    const box = page('مرحبا\n\nhello\n\n- שלום');
    for (const node of box.querySelectorAll('.cc-block, p, li')) expect(node.getAttribute('dir')).toBe('auto');
  });

  it('shows what is too long as plain text, its beginning first', () => {
    const box = page('a'.repeat(1_000_000));
    expect(box.textContent?.length).toBeLessThan(21_000);
    expect(box.querySelector('button')?.textContent).toContain('1,000,000');
  });
});

describe('Markdown that people see', () => {
  it('has tables in a box of their own, task lists and links', () => {
    const box = page('| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done\n- [ ] open\n\n[x](https://example.org)');
    expect(box.querySelector('[role=group][aria-label=Table] table td')?.textContent).toBe('1');
    expect(box.querySelectorAll('input[type=checkbox]')).toHaveLength(2);
    expect(box.querySelector('input')?.getAttribute('aria-label')).toBe('Done');
  });

  it('resolves references that are defined in another block', () => {
    expect(page('see [docs][d]\n\ntext\n\n[d]: https://example.org/docs').querySelector('a')?.href).toBe(
      'https://example.org/docs'
    );
  });

  it('protects mathematics from Markdown and gives each piece to the host once', () => {
    const seen: string[] = [];
    const typeset = vi.fn((node: HTMLElement) => seen.push(node.textContent ?? ''));
    page('so $a_1 * b_2 * c$ and \\(x_1\\) cost $5 or $6\n\n$$\n\\frac{a}{b}\n$$', node => typeset(node));
    expect(seen.sort()).toEqual(['$$\\frac{a}{b}$$', '$a_1 * b_2 * c$', '$x_1$']);
  });

  it('does not hand over formulas that link or load', () => {
    const typeset = vi.fn();
    const box = page('$\\href{javascript:alert(1)}{x}$', typeset);
    expect(typeset).not.toHaveBeenCalled();
    expect(box.textContent).toContain('\\href');
  });

  it('colours code by nodes that say exactly the code', () => {
    const code = 'def f(x):\n    return "<b>" + \'&\' # done';
    const holder = document.createElement('div');
    holder.append(highlight(code, 'python')!);
    expect(holder.textContent).toBe(code);
    expect(holder.querySelector('.hljs-keyword')?.textContent).toBe('def');
    expect(highlight('x'.repeat(60_000), 'python')).toBeUndefined();
    expect(highlight('x', 'cobol')).toBeUndefined();
  });
});
