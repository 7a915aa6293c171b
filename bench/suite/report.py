def progress(results):
    words = []
    for name, result in results.items():
        if "samples" in result:
            words.append(f"{name} {min(min(s) for s in result['samples']) * 1e3:.4g}")
        else:
            words.append(f"{name} -")
    return ", ".join(words) + " ms"


def page(data, pictures=()):
    return ""
