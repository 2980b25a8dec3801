"""What the scripted model answers to plain questions: pictures show conversations, not directives."""

from __future__ import annotations

from cashcode_jupyter.testing import script

SALES = "month,product,units\nApril,tea,1240\nMay,tea,410\nApril,coffee,980\nMay,coffee,1010\n"
REVENUE = """Revenue fell by **18 %** in May because *tea* was out of stock for two weeks.

| product | April | May |
|---|---:|---:|
| tea | 1,240 | 410 |
| coffee | 980 | 1,010 |

This shows it by product:

```python
by_product = df.pivot_table(index="product", columns="month", values="units")
by_product["change"] = by_product["May"] / by_product["April"] - 1
by_product.sort_values("change")
```
"""
REVENUE_ZH = """五月收入下降 **18 %**，因为*茶*缺货两周。

| 产品 | 四月 | 五月 |
|---|---:|---:|
| 茶 | 1,240 | 410 |
| 咖啡 | 980 | 1,010 |
"""
ANSWERS = {
    "Why did revenue drop in May": script(
        [[("list_dir", {}), ("read_file", {"path": "sales.csv"})]], text=REVENUE, reasoning="First the data."
    ),
    "Search the project for revenue": script(
        [[("grep", {"pattern": "revenue", "path": "."})]], text="Nothing else mentions it."
    ),
    "五月的收入为什么下降": script(
        [[("read_file", {"path": "sales.csv"})]],
        text=REVENUE_ZH,
    ),
    "Show a code block": "Here it is:\n\n```python\nanswer = 6 * 7\nprint(answer)\n```\n",
}
